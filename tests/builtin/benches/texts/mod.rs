//! Plain texts for benches, without personal data.

pub(crate) const MEGABYTE: usize = 1_000_000;

pub(crate) const ENGLISH: &str = "The committee met on a grey morning in the old town hall, and nobody seemed to be \
    in a hurry to begin. \"We have 12 items today,\" said the chair - a tall woman with a quiet voice - \
    \"and the first of them is the bridge.\" It had been closed since 1998; the river below it was \
    wide, slow and brown. Some wanted a new one, others (and there were many of them) did not. \
    By noon they had agreed on one thing: lunch.\n\n";

pub(crate) const CHINESE: &str = "委员会在一个灰蒙蒙的早晨在旧市政厅开会，似乎没有人急于开始。主席说：“我们今天有12个议题，\
    第一个是那座桥。”它自1998年以来一直关闭；下面的河流宽阔、缓慢、呈棕色。有些人想要一座新的，\
    其他人（而且人数众多）则不想。到了中午，他们就一件事达成了一致：吃午饭。\n\n";

/// Repeats a text up to this length in bytes.
pub(crate) fn text_of(part: &str, length: usize) -> String {
    let mut text = part.repeat(length / part.len() + 1);
    text.truncate(text.floor_char_boundary(length));
    text
}
