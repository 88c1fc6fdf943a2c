//! Choices that look random and are the same in each run.

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    pub(crate) fn within(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A string of so many characters of these.
    pub(crate) fn string(&mut self, of: &str, length: usize) -> String {
        (0..length).map(|_| char::from(self.of(of.as_bytes()))).collect()
    }

    pub(crate) fn digits(&mut self, length: usize) -> String {
        self.string("0123456789", length)
    }

    pub(crate) fn hex(&mut self, length: usize) -> String {
        self.string("0123456789abcdef", length)
    }

    /// A shape with a digit for each `#`, one from 1 to 9 for each `%`, and one from 2 to 9 for each `&`.
    pub(crate) fn shape(&mut self, shape: &str) -> String {
        let digit = |of: char, random: &mut Self| match of {
            '#' => random.digits(1),
            '%' => random.string("123456789", 1),
            '&' => random.string("23456789", 1),
            other => other.to_string(),
        };
        shape.chars().map(|of| digit(of, self)).collect()
    }
}
