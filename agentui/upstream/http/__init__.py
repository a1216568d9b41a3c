"""An HTTP/1.1 client on llhttp: connections, the pool that keeps them, and one exchange on one of them.

    Exchange ──> Pool ──> Connection      a request goes out, the head of its answer comes in
        │         └──> TunnelRequest      where a proxy is on the way
        └──> UpstreamStream               the body, as it comes

It knows nothing of models, vendors or runs; whom to call, how often and how many at once is decided in ``agentui.upstream``.
"""
