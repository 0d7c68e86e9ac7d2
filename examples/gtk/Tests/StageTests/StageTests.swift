import Testing

/// One desktop at a time: each takes a machine's worth of drawing, and hands that are late drop things elsewhere.
@Suite(.serialized) struct StageTests {}
