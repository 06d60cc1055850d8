package hetznersim

type zone struct{ common }

const kindZone = "zone"
