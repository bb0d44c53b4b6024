"""Layer 2: background work in threads and child processes. Knows nothing of NLP; the only place that starts either.

`queue.Queue` runs jobs, `host.Host` keeps one model loaded, `threads.run` does short work, `dispatch.Mailbox` is the
main thread's letter box where there is no event loop.
"""
