// Package cloud is the only one that talks to Hetzner Cloud: it observes what
// is there as plain data ([apply/plan]), and makes one change of a plan at a
// time. It is the only importer of hcloud-go.
//
// hcloud-go gives the shapes of requests and answers. How calls are repeated,
// paced, counted and logged is decided here, in one transport, because it
// decides what a crash or a lost answer can leave behind:
//
//   - A refusal (rate limit, lock, conflict) changed nothing: the call is made
//     again after a while.
//   - A call that may have had an effect whose answer was lost is repeated only
//     if doing it twice is the same as once (GET, PUT, DELETE). A POST is not:
//     it fails with [LostAnswer], and whoever runs the plan observes again and
//     plans the rest anew. So recovery from a lost answer and recovery from a
//     killed run are the same path.
package cloud
