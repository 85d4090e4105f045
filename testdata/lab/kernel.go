package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed init.sh
var initScript string

// Kernel is one of Debian's kernels, unpacked, with an initrd that mounts this machine's file system below an overlay.
type Kernel struct {
	Release string // 6.1.0-57-amd64
	Dir     string // holds boot/ and lib/modules/
	Initrd  string
}

// CacheDir is where kernels are kept between runs.
func CacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "corewise-lab")
	return dir, os.MkdirAll(dir, 0o755)
}

// FetchKernel gets the newest kernel image of a Debian meta-package, such as linux-image-amd64, and builds the initrd.
func FetchKernel(ctx context.Context, cache, meta string) (Kernel, error) {
	image, err := imagePackage(ctx, meta)
	if err != nil {
		return Kernel{}, err
	}
	k := Kernel{Release: strings.TrimSuffix(strings.TrimPrefix(image, "linux-image-"), "-unsigned"), Dir: filepath.Join(cache, image)}
	k.Initrd = filepath.Join(k.Dir, "initrd.gz")
	if _, err := os.Stat(filepath.Join(k.Dir, "complete")); err != nil {
		if err := download(ctx, image, k); err != nil {
			return Kernel{}, fmt.Errorf("fetch %s: %w", image, err)
		}
	}
	return k, k.buildInitrd(ctx)
}

// imagePackage resolves a meta-package to the package that holds the kernel.
func imagePackage(ctx context.Context, meta string) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-cache", "depends", meta).Output()
	if err != nil {
		return "", fmt.Errorf("apt-cache depends %s: %w", meta, err)
	}
	for line := range strings.Lines(string(out)) {
		if _, name, ok := strings.Cut(line, "Depends: "); ok && strings.HasPrefix(name, "linux-image-") {
			return strings.TrimSpace(name), nil
		}
	}
	return "", fmt.Errorf("apt-cache depends %s names no kernel: run apt-get update", meta)
}

func download(ctx context.Context, image string, k Kernel) error {
	tmp, err := os.MkdirTemp(filepath.Dir(k.Dir), "download-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o777); err != nil { // apt downloads as user _apt
		return err
	}
	if err := command(ctx, tmp, "apt-get", "-qq", "download", image); err != nil {
		return err
	}
	debs, err := filepath.Glob(filepath.Join(tmp, "*.deb"))
	if err != nil || len(debs) != 1 {
		return errors.Join(err, fmt.Errorf("got %d packages", len(debs)))
	}
	if err := os.RemoveAll(k.Dir); err != nil {
		return err
	}
	if err := command(ctx, tmp, "dpkg-deb", "-x", debs[0], k.Dir); err != nil {
		return err
	}
	if err := command(ctx, k.Dir, "depmod", "-b", k.Dir, k.Release); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(k.Dir, "complete"), nil, 0o644)
}

// bootModules is the order of insmod in the initrd: the order of their symbols.
func bootModules() []string {
	return strings.Fields("virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci netfs fscache 9pnet 9p 9pnet_virtio failover net_failover virtio_net overlay")
}

// buildInitrd packs busybox, the modules that reach the 9p root, and init.sh.
func (k Kernel) buildInitrd(ctx context.Context) error {
	tmp, err := os.MkdirTemp("", "lab-initrd-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	for _, d := range strings.Fields("bin proc sys dev mod host newroot tmpfs out") {
		if err := os.MkdirAll(filepath.Join(tmp, d), 0o755); err != nil {
			return err
		}
	}
	if err := command(ctx, tmp, "cp", "/bin/busybox", "bin/"); err != nil {
		return err
	}
	for _, m := range bootModules() {
		if err := k.copyModule(m, filepath.Join(tmp, "mod")); err != nil {
			return err
		}
	}
	script := strings.ReplaceAll(initScript, "@MODULES@", strings.Join(bootModules(), " "))
	if err := os.WriteFile(filepath.Join(tmp, "init"), []byte(script), 0o755); err != nil {
		return err
	}
	part := fmt.Sprintf("%s.%d", k.Initrd, os.Getpid())
	if err := command(ctx, tmp, "/bin/bash", "-o", "pipefail", "-c", `find . | cpio -o -H newc 2>/dev/null | gzip -1 > "$0"`, part); err != nil {
		return err
	}
	return os.Rename(part, k.Initrd)
}

// copyModule takes a module that some kernels have built in: absent is fine.
func (k Kernel) copyModule(name, dst string) error {
	root := filepath.Join(k.Dir, "lib/modules", k.Release)
	return filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != name+".ko" {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dst, d.Name()), b, 0o644); err != nil {
			return err
		}
		return filepath.SkipAll
	})
}

// args are QEMU's words for kernel, root and the writable share.
func (k Kernel) args(out, script, extra string) []string {
	share := func(id, path, options string) []string {
		return []string{
			"-fsdev", fmt.Sprintf("local,id=%s,path=%s,security_model=none,multidevs=remap%s", id, path, options),
			"-device", fmt.Sprintf("virtio-9p-pci,fsdev=%s,mount_tag=%s,bus=pcie.0", id, id),
		}
	}
	a := append(share("host", "/", ",readonly=on"), share("out", out, "")...)
	return append(a, "-kernel", filepath.Join(k.Dir, "boot/vmlinuz-"+k.Release), "-initrd", k.Initrd,
		"-append", strings.TrimSpace("console=ttyS0 quiet panic=-1 lab.script="+script+" lab.modules="+k.Dir+" "+extra))
}

func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, lastLines(string(out), 5))
	}
	return nil
}
