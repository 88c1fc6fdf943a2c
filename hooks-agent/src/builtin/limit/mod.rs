//! Hooks that limit: calls, tokens, money, rates.
