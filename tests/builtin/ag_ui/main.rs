//! AG-UI: the stream of a call as events of the protocol.
