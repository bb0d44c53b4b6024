"""Layer 2: background work in threads and child processes. Independent of NLP; no other package
starts either.

`queue.Queue` runs jobs, `host.Host` keeps one model loaded, `threads.run` runs short tasks, and
`dispatch.Mailbox` delivers calls to the main thread where there is no event loop.
"""
