// A private bus for a suite, peers, and waiting with a limit.
