// Package debuginfod gets debug information over HTTP, by build id, as elfutils'
// debuginfod client does: debuginfod(8), debuginfod-client-config(7) and
// debuginfod_find_debuginfo(3) say how.
//
// What it gives: a [Client], which is an image.Fetcher. It asks all servers of
// DEBUGINFOD_URLS for /buildid/ID/debuginfo (or executable), takes the first that
// has the file, and keeps it in the cache directory that other clients have, too:
// DIR/ID/debuginfo, and an empty file where no server has one.
//
// What you bring: a [Config], from [FromEnvironment] or made. Without servers there is
// no client, and nothing is ever sent.
//
// Files are fetched in the background. [Client.Fetch] waits for one only as long as
// its Patience lasts, which is one budget for all files, and only while bytes come. A server
// that can't be reached, that is too slow or that gives wrong files is not asked again by
// this client. What comes is written beside its place, bounded in size and time,
// opened, checked for its build id, and only then renamed into the cache.
//
// Not done: sources, sections, metadata queries, and the IMA signatures of newer
// servers.
package debuginfod
