/**
 * The manager of a person, as the ID of an account, where `person` is the row of `scim_user` about the person.
 * Providers write the ID that the manager has here, or an external ID or a user name of theirs. It is read when it is
 * asked for, because a provider may name a manager before it creates the manager. If two people can be meant, none is:
 * a manager can approve what other users ask for.
 */
export function managerOf(person: string): string {
  return `(select case when count(*) = 1 then min(found.id) end from (
     select b.id from account b
      where b.id = case when ${person}.manager ~ '^[0-9]{1,18}$' then ${person}.manager::bigint end and b.kind = 'user'
        and (exists (select 1 from scim_user o where o.organization_id = ${person}.organization_id and o.account_id = b.id)
          or exists (select 1 from team_member m join team t on t.id = m.team_id
                      where m.account_id = b.id and t.organization_id = ${person}.organization_id))
      union select o.account_id from scim_user o
             where o.organization_id = ${person}.organization_id and o.external_id = ${person}.manager
      union select o.account_id from scim_user o
             where o.organization_id = ${person}.organization_id and o.user_name_key = lower(${person}.manager)) found
    where ${person}.manager <> '')`;
}
