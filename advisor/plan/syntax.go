package plan

func (b *builder) render() {}
