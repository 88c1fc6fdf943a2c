//! The identity and tax numbers, by region.

mod america;
mod asia;
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
    vat_other::EU_VAT_IT,
    vat_other::EU_VAT_PL,
    vat_other::EU_VAT_PT,
    vat_other::EU_VAT_SE,
];
