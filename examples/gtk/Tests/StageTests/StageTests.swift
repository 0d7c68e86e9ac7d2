import Testing

/// The tests use one desktop at a time: drawing takes the whole machine, and late hands drop things in the wrong places.
@Suite(.serialized) struct StageTests {}
