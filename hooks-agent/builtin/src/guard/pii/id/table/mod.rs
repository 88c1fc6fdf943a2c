//! The identity and tax numbers, by region.

mod america;
mod asia;
mod documents;
mod europe_east;
mod europe_north;
mod europe_south;
mod europe_west;
mod vat_other;
mod vat_west;

use crate::guard::pii::id::form::IdForm;

/// All of them.
pub(crate) const IDS: &[IdForm] = &[
    america::US_SSN,
    america::US_ITIN,
    america::US_ABA,
    america::US_NPI,
    america::US_DEA,
    america::CA_SIN,
    america::MX_CURP,
    america::BR_CPF,
    america::BR_CNPJ,
    america::AR_CUIT,
    america::CL_RUT,
    america::CO_NIT,
    asia::IN_AADHAAR,
    asia::IN_PAN,
    asia::IN_GSTIN,
    asia::IN_GSTIN_NAMED,
    asia::CN_RESIDENT_ID,
    asia::JP_MY_NUMBER,
    asia::KR_RRN,
    asia::SG_NRIC,
    asia::IL_ID,
    asia::TR_KIMLIK,
    asia::AU_TFN,
    asia::AU_TFN_OLD,
    asia::AU_MEDICARE,
    asia::ZA_ID,
    europe_north::SE_PERSONNUMMER,
    europe_north::NO_FODSELSNUMMER,
    europe_north::FI_HENKILOTUNNUS,
    europe_north::DK_CPR,
    europe_north::EE_LT_PERSONAL_CODE,
    europe_west::UK_NHS,
    europe_west::UK_NINO,
    europe_west::IE_PPS,
    europe_west::DE_STEUER_ID,
    europe_west::AT_SVNR,
    europe_west::CH_AHV,
    europe_west::NL_BSN,
    europe_west::BE_NRN,
    europe_west::FR_NIR,
    europe_south::ES_DNI,
    europe_south::ES_NIE,
    europe_south::IT_CODICE_FISCALE,
    europe_south::PT_NIF,
    europe_south::GR_AMKA,
    europe_east::PL_PESEL,
    europe_east::RO_CNP,
    europe_east::BG_EGN,
    europe_east::CZ_RODNE_CISLO,
    europe_east::CZ_RODNE_CISLO_OLD,
    europe_east::HU_TAJ,
    europe_east::HU_TAX_ID,
    europe_east::HR_OIB,
    europe_east::SI_EMSO,
    vat_west::EU_VAT_AT,
    vat_west::EU_VAT_BE,
    vat_west::EU_VAT_DE,
    vat_west::EU_VAT_FR,
    vat_west::EU_VAT_FR_LETTERS,
    vat_west::EU_VAT_IE,
    vat_west::EU_VAT_LU,
    vat_west::EU_VAT_NL,
    vat_other::EU_VAT_DK,
    vat_other::EU_VAT_ES,
    vat_other::EU_VAT_FI,
    documents::PASSPORT,
    documents::DRIVING_LICENCE,
    documents::LICENCE_PLATE,
    vat_other::EU_VAT_IT,
    vat_other::EU_VAT_IT_OWN,
    vat_other::EU_VAT_PL,
    vat_other::EU_VAT_PT,
    vat_other::EU_VAT_SE,
];

#[cfg(test)]
mod tests {
    use crate::guard::pii::id::table::IDS;

    /// Numbers that look random and are the same in each run.
    struct Random(u64);

    impl Random {
        fn of(&mut self, choices: &[u8]) -> u8 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            choices[usize::try_from((self.0 >> 16) % choices.len() as u64).unwrap()]
        }

        /// A random number of a layout, without its separators.
        fn number(&mut self, layout: &str) -> Vec<u8> {
            const ALL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
            let symbols =
                layout.bytes().filter(|byte| *byte == b'*' || byte.is_ascii_alphanumeric());
            let byte = |symbol| match symbol {
                b'9' => self.of(b"0123456789"),
                b'A' => self.of(&ALL[..26]),
                b'*' => self.of(ALL),
                other => other,
            };
            symbols.map(byte).collect()
        }
    }

    #[test]
    fn no_form_passes_more_random_numbers_than_it_says() {
        const DRAWS: u32 = 4000;
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for form in IDS {
            for layout in form.layouts {
                let passed = (0..DRAWS).filter(|_| (form.check)(&random.number(layout))).count();
                // Four deviations above what is expected.
                let expected = f64::from(DRAWS) / f64::from(form.one_of);
                let most = expected + 4.0 * expected.sqrt() + 3.0;
                let passed = u32::try_from(passed).unwrap();
                assert!(
                    f64::from(passed) <= most,
                    "{:?} {layout}: {passed}, {expected}",
                    form.kind
                );
            }
        }
    }
}
