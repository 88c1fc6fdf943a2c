use hooks_agent::tool;

/// The weather now.
#[tool]
const fn weather<'a, T, const N: usize>() -> &'a str {
    ""
}

/// The time.
#[tool]
unsafe extern "C" fn time() -> &'static str {
    ""
}

fn main() {
    let _ = weather::<u8, 1>();
}
