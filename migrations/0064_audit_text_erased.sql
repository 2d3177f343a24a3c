-- compatible-from: 55
-- How many texts of a log were erased, for its verification.
create index audit_text_erased on audit_text (organization_id) where text is null;
