use hooks_core::{Hookable, hookable};

#[hookable]
trait Machine: Hookable {
    #[hook]
    fn generic<T: Send>(&self, by: T) -> u8;

    #[hook]
    async fn waiting<T: Send>(&self, by: T) -> u8;

    #[hook]
    fn open(&self, by: impl Send) -> u8;

    #[hook]
    fn sized(&self) -> u8
    where
        Self: Sized;

    #[hook]
    fn good(&self) -> u8;
}

#[hookable]
trait Lender: Hookable {
    #[hook]
    fn lend(&self) -> u8;

    type Loan<'a>
    where
        Self: 'a;
}

fn main() {
    let _ = <dyn Machine>::PRE_GOOD;
}
