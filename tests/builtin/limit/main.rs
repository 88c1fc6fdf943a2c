//! Built-in hooks that limit: calls, tokens, money, rates.
