-- The budget of a user's month (MONTHLY_TOKENS_PER_USER) and of a key's, whose turns are all its owner's: without it each look reads every turn of
-- the organization's month. The table takes no writes while the index is made, some two seconds for a million turns; chat answers meanwhile.
create index turns_of_user on turns (organization_id, user_id, started_at);
