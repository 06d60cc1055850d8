package schemas

// Storage is where pods keep what outlives them, besides volumes of Hetzner Cloud.
type Storage struct {
	// The storage class of those who name none.
	DefaultClass string `yaml:"defaultClass" format:"kubernetesName" otherwise:"on hetzner that of hetzner.volumes; else the only one that there is" example:"longhorn"`
	// Longhorn: volumes with copies on several nodes.
	Longhorn Longhorn `yaml:"longhorn"`
	// Directories of nodes, by OpenEBS: fast, and lost with the node.
	Local LocalVolumes `yaml:"local"`
	// Directories on NFS servers, each a storage class.
	NFS []NFSClass `yaml:"nfs" otherwise:"none"`
	// Directories on SMB servers, each a storage class.
	SMB []SMBClass `yaml:"smb" otherwise:"none"`
}

// Longhorn keeps copies of volumes on several nodes.
type Longhorn struct {
	// Whether it runs.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// The user volume that has the data, on each node that Longhorn runs on; a patch
	// has its UserVolumeConfig.
	Volume string `yaml:"volume" format:"dnsLabel" otherwise:"none: /var/lib/longhorn, on the disk of Talos" example:"longhorn"`
	// How many copies of a volume there are.
	Replicas int `yaml:"replicas" min:"1" max:"20" otherwise:"3, or as many as there are workers" example:"2"`
}

// LocalVolumes are directories of nodes.
type LocalVolumes struct {
	// Whether there are some, with the class openebs-hostpath.
	Enabled bool `yaml:"enabled" default:"false" example:"true"`
	// The user volume that they are on, on each node that pods run on; a patch has its
	// UserVolumeConfig.
	Volume string `yaml:"volume" format:"dnsLabel" otherwise:"none: /var/openebs/local, on the disk of Talos" example:"local"`
}

// NFSClass is a kind of volume: a directory on an NFS server.
type NFSClass struct {
	// The name of the storage class.
	Name string `yaml:"name" required:"true" format:"dnsName" example:"nas"`
	// The server.
	Server string `yaml:"server" required:"true" format:"host" example:"nas.example.com"`
	// The directory that it exports.
	Share string `yaml:"share" required:"true" format:"path" example:"/volume1/kubernetes"`
	// What happens to a volume that no claim uses any more.
	ReclaimPolicy string `yaml:"reclaimPolicy" default:"Delete" enum:"Delete,Retain" example:"Retain"`
	// How it is mounted. With nfsvers=3, nodes need the extension siderolabs/nfs-utils,
	// unless nolock is among them.
	MountOptions []string `yaml:"mountOptions" format:"kernelArg" default:"[nfsvers=4.1]" example:"[nfsvers=4.2, noatime]"`
	// Parameters for the driver in addition, such as subDir. A change needs the class
	// to be made again.
	Parameters map[string]string `yaml:"parameters" otherwise:"none" example:"{mountPermissions: '0770'}"`
}

// SMBClass is a kind of volume: a directory on an SMB server, such as one of Windows
// or a Storage Box.
type SMBClass struct {
	// The name of the storage class.
	Name string `yaml:"name" required:"true" format:"dnsName" example:"box"`
	// The server and the share.
	Source string `yaml:"source" required:"true" format:"smbShare" example:"//u123456.your-storagebox.de/backup"`
	// The variable that holds the user.
	UsernameVariable string `yaml:"usernameVariable" default:"SMB_USERNAME" format:"variable" example:"BOX_USER"`
	// The secret variable that holds the password.
	PasswordVariable string `yaml:"passwordVariable" default:"SMB_PASSWORD" format:"variable" example:"BOX_PASSWORD"`
	// What happens to a volume that no claim uses any more.
	ReclaimPolicy string `yaml:"reclaimPolicy" default:"Delete" enum:"Delete,Retain" example:"Retain"`
	// How it is mounted.
	MountOptions []string `yaml:"mountOptions" format:"kernelArg" default:"[seal, dir_mode=0777, file_mode=0777]" example:"[vers=3.1.1, uid=1000]"`
	// Parameters for the driver in addition. A change needs the class to be made
	// again.
	Parameters map[string]string `yaml:"parameters" otherwise:"none" example:"{subDir: web}"`
}
