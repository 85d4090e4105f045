package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// socketBytes is asked for as buffer of a socket, so that a burst is not lost there.
const socketBytes = 4 << 20

// udpSocket opens a UDP socket of the address's family with the time-out for receiving, 0 for none.
func udpSocket(addr netip.Addr, wait time.Duration) (fd int, err error) {
	family := unix.AF_INET
	if addr.Is6() {
		family = unix.AF_INET6
	}
	fd, err = unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open UDP socket: %w", err)
	}
	tv := unix.NsecToTimeval(wait.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("set receive time-out: %w", err)
	}
	for _, option := range []int{unix.SO_RCVBUF, unix.SO_SNDBUF} {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, socketBytes) // the kernel bounds it; less is no error
	}
	return fd, nil
}

func sockaddr(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16(), ZoneId: zone(a.Addr().Zone())}
}

// zone is the index of the interface in an address like fe80::1%eth0.
func zone(name string) uint32 {
	ifi, err := net.InterfaceByName(name)
	if name == "" || err != nil {
		return 0
	}
	return uint32(ifi.Index)
}

// listenUDP opens the answering end; port 0 takes any. The second result is where it listens.
func listenUDP(a netip.AddrPort) (int, netip.AddrPort, error) {
	fd, err := udpSocket(a.Addr(), 0)
	if err != nil {
		return -1, a, err
	}
	if err := unix.Bind(fd, sockaddr(a)); err != nil {
		unix.Close(fd)
		return -1, a, fmt.Errorf("listen on UDP %s: %w", a, err)
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		unix.Close(fd)
		return -1, a, fmt.Errorf("read own address: %w", err)
	}
	switch s := bound.(type) {
	case *unix.SockaddrInet4:
		a = netip.AddrPortFrom(a.Addr(), uint16(s.Port))
	case *unix.SockaddrInet6:
		a = netip.AddrPortFrom(a.Addr(), uint16(s.Port))
	}
	return fd, a, nil
}

// wakeUDP sends an empty datagram to a server of this process, so that it looks at its stop flag. A time-out on its
// socket would do that too, and cost a timer for every message.
func wakeUDP(a netip.AddrPort) {
	ip := a.Addr()
	switch {
	case ip.IsUnspecified() && ip.Is4():
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case ip.IsUnspecified():
		ip = netip.IPv6Loopback()
	}
	fd, err := dialUDP(netip.AddrPortFrom(ip, a.Port()), time.Second)
	if err != nil {
		return
	}
	unix.Write(fd, nil)
	unix.Close(fd)
}

// dialUDP opens the measuring end, connected, so that a refusal comes back as an error.
func dialUDP(a netip.AddrPort, wait time.Duration) (int, error) {
	fd, err := udpSocket(a.Addr(), wait)
	if err != nil {
		return -1, err
	}
	if err := unix.Connect(fd, sockaddr(a)); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("connect UDP to %s: %w", a, err)
	}
	return fd, nil
}

// resolve turns an address or a host name into an address with the port.
func resolve(ctx context.Context, text string, port int) (netip.AddrPort, error) {
	if a, err := address(text, port); err == nil {
		return a, nil
	}
	if host, p, err := net.SplitHostPort(text); err == nil {
		if n, ok := wholeNumber(p); ok && n > 0 && n < 65536 {
			return resolve(ctx, host, n)
		}
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("resolve %s: %w", text, err)
	}
	if len(addrs) == 0 {
		return netip.AddrPort{}, errors.New("resolve " + text + ": no address")
	}
	return netip.AddrPortFrom(addrs[0].Unmap(), uint16(port)), nil
}
