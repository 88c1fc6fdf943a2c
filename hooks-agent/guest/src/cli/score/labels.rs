//! Names of kinds in sets of others.

/// Returns our name of a kind: that of Presidio's entity type, or the name itself in small letters.
pub(super) fn own_name(label: &str) -> String {
    let label = label.to_lowercase();
    let own = match label.as_str() {
        "email_address" => "email",
        "phone_number" => "phone",
        "iban_code" => "iban",
        "ip_address" => "ip",
        "domain_name" => "url",
        "uk_postcode" => "uk_postcode",
        "es_nif" => "es_dni",
        "it_fiscal_code" => "it_codice_fiscale",
        "sg_nric_fin" => "sg_nric",
        "fi_personal_identity_code" => "fi_henkilotunnus",
        "us_bank_routing" | "aba_routing_number" => "us_aba",
        "de_tax_id" => "de_steuer_id",
        "se_personnummer" => "se_personnummer",
        "it_vat_code" => "eu_vat",
        "th_tnin" => "th_tnin",
        other => other,
    };
    own.to_owned()
}
