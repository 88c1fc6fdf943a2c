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
        "es_nif" => "es_dni",
        "it_fiscal_code" => "it_codice_fiscale",
        "sg_nric_fin" => "sg_nric",
        "fi_personal_identity_code" => "fi_henkilotunnus",
        "aba_routing_number" => "us_aba",
        "de_tax_id" => "de_steuer_id",
        "it_vat_code" | "de_vat_id" => "eu_vat",
        "za_id_number" => "za_id",
        "tr_national_id" => "tr_kimlik",
        "crypto" => "crypto_address",
        passport if passport.ends_with("_passport") => "passport",
        licence
            if licence.ends_with("_driver_license") || licence.ends_with("_driving_licence") =>
        {
            "driving_licence"
        }
        other => other,
    };
    own.to_owned()
}
