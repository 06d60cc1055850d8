package generate

// diskSelector says what the disk is like that Talos is installed to, where no path says
// which one it is.
func (e *environment) diskSelector(in values, at string, percent int) {
	if in["installDisk"] != nil || !e.is(at+".diskSelector", percent) {
		return
	}
	d := values{}
	at += ".diskSelector"
	if e.Contract >= 14 && e.is(at+".match", 30) {
		in["diskSelector"] = values{"match": one(e, at+".match value", `disk.transport == "nvme"`, "disk.size > 40u * GB && !disk.rotational")}
		return
	}
	put(e, d, at, "size", 60, func(name string) string { return one(e, name+" value", ">= 40GB", "<2 TiB", "== 500GB") })
	for _, key := range []string{"model", "serial", "modalias", "uuid", "wwid", "busPath"} {
		put(e, d, at, key, 40, func(name string) string { return one(e, name+" value", "*", "A \"B\" \\ C*", "abc?") })
	}
	if len(d) == 0 || e.is(at+".type", 30) {
		d["type"] = one(e, at+".type value", "ssd", "hdd", "nvme", "sd")
	}
	in["diskSelector"] = d
}
