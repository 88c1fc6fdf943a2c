//! An agent behind AG-UI, the protocol between agents and front ends.
