package schemas

// DiskSelector says what a disk is like. A disk must fit everything that is given;
// of several, Talos takes one. In texts, * stands for any characters.
type DiskSelector struct {
	// Its size: one, or a bound such as '>= 100GB'.
	Size string `yaml:"size" format:"diskSize" otherwise:"any" example:"'>= 100GB'"`
	// Its model.
	Model string `yaml:"model" format:"diskText" otherwise:"any" example:"Samsung*"`
	// Its serial number.
	Serial string `yaml:"serial" format:"diskText" otherwise:"any" example:"S4EVNX0R*"`
	// Its alias in the kernel.
	Modalias string `yaml:"modalias" format:"diskText" otherwise:"any" example:"'scsi:t-0x00'"`
	// Its UUID.
	UUID string `yaml:"uuid" format:"diskText" otherwise:"any" example:"9d94cf8e-*"`
	// Its World Wide Identifier.
	WWID string `yaml:"wwid" format:"diskText" otherwise:"any" example:"naa.5002538*"`
	// Its kind.
	Type string `yaml:"type" enum:"ssd,hdd,nvme,sd" otherwise:"any" example:"nvme"`
	// Where it is connected.
	BusPath string `yaml:"busPath" format:"diskText" otherwise:"any" example:"/pci0000:00/*"`
	// An expression in the Common Expression Language, instead of all others.
	// From talos.configContract v1.14 on.
	Match string `yaml:"match" format:"diskText" otherwise:"made of the others" example:"disk.transport == \"nvme\" && disk.size > 100u * GB"`
}
