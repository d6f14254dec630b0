// Package debuginfod downloads debug information over HTTP, by build id, as elfutils' debuginfod
// client does. See debuginfod(8), debuginfod-client-config(7) and debuginfod_find_debuginfo(3).
//
// What it gives: a [Client], which implements image.Fetcher. It asks all servers of
// DEBUGINFOD_URLS for /buildid/ID/debuginfo (or executable) and takes the first answer that has
// the file. It stores the file in the cache directory that other clients use, too, as
// DIR/ID/debuginfo. An empty file there records that no server has it.
//
// What you bring: a [Config], from [FromEnvironment] or your own. Without servers there is no
// client, and no request is ever sent.
//
// Files are fetched in the background. [Client.Fetch] waits for a file only while bytes arrive
// and its Patience lasts, which is one budget for all files. A server that can't be reached, is
// too slow or sends wrong files is not asked again by this client. A download is written next to
// its final path, with limits on size and time. It is opened and its build id is checked; only
// then is it renamed into the cache.
//
// Not done: sources, sections, metadata queries, and the IMA signatures of newer servers.
package debuginfod
