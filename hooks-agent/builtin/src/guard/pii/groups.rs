//! Groups of kinds.

use crate::guard::pii::kind::PiiKind;

/// Groups of [`PiiKind`]s.
///
/// ```
/// use hooks_agent::builtin::guard::PiiDetection;
/// use hooks_agent::builtin::guard::pii::{Kinds, PiiKind};
///
/// let hook = PiiDetection::of(Kinds::payment().chain([PiiKind::Email]));
/// assert_eq!(hook.name(), "PiiDetection[credit_card,iban,us_aba,email]");
/// # use hooks_agent::prelude::*;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Kinds;

type Group<const N: usize> = std::array::IntoIter<PiiKind, N>;

impl Kinds {
    /// Of payments: cards, bank accounts, routing numbers.
    #[must_use]
    pub fn payment() -> Group<3> {
        [PiiKind::CreditCard, PiiKind::Iban, PiiKind::UsAba].into_iter()
    }

    /// Of networks: IP and MAC addresses, URLs.
    #[must_use]
    pub fn network() -> Group<4> {
        [PiiKind::Ipv4, PiiKind::Ipv6, PiiKind::MacAddress, PiiKind::Url].into_iter()
    }

    /// Identity and tax numbers of the United States.
    #[must_use]
    pub fn us() -> Group<5> {
        use PiiKind::{UsAba, UsDea, UsItin, UsNpi, UsSsn};
        [UsSsn, UsItin, UsAba, UsNpi, UsDea].into_iter()
    }

    /// Identity and tax numbers of the European Union.
    #[must_use]
    pub fn eu() -> Group<23> {
        use PiiKind::{
            AtSvnr, BeNrn, BgEgn, CzRodneCislo, DeSteuerId, DkCpr, EeLtPersonalCode, EsDni, EsNie,
            EuVat, FiHenkilotunnus, FrNir, GrAmka, HrOib, HuTaj, HuTaxId, IePps, ItCodiceFiscale,
            NlBsn, PlPesel, PtNif, RoCnp, SePersonnummer,
        };
        [
            AtSvnr,
            BeNrn,
            BgEgn,
            CzRodneCislo,
            DeSteuerId,
            DkCpr,
            EeLtPersonalCode,
            EsDni,
            EsNie,
            EuVat,
            FiHenkilotunnus,
            FrNir,
            GrAmka,
            HrOib,
            HuTaj,
            HuTaxId,
            IePps,
            ItCodiceFiscale,
            NlBsn,
            PlPesel,
            PtNif,
            RoCnp,
            SePersonnummer,
        ]
        .into_iter()
    }

    /// All identity and tax numbers.
    pub fn ids() -> impl Iterator<Item = PiiKind> + Clone {
        let ids = PiiKind::UsSsn..=PiiKind::EuVat;
        PiiKind::ALL.into_iter().filter(move |kind| ids.contains(kind))
    }

    /// Documents: passports and driving licences.
    #[must_use]
    pub fn documents() -> Group<2> {
        [PiiKind::Passport, PiiKind::DrivingLicence].into_iter()
    }
}
