/** Makes deliveries of webhooks and reads their rows, for tests that need only a database. */
import type { Caller } from "../../../src/commands/caller.ts";
import type { Database, OrganizationRef } from "../../../src/db/pool.ts";
import { insertFirstOrganizationKey, listOrganizationKeys } from "../../../src/db/encryption/keys.ts";
import { newId } from "../../../src/domain/ids.ts";
import { createKeyring, type Keyring, localMasterKey } from "../../../src/storage/keys/keyring.ts";
import type { OwnedDatabase } from "../servers/database.ts";
import { watchedParts } from "./commands.ts";

/** A change of a webhook that changes nothing. */
export const NOTHING = { url: undefined, types: undefined, description: undefined, status: undefined };

/** A key ring over the database, without a cache that another test shares. */
export function keyringOf(db: Database, masterKey: Buffer = Buffer.alloc(32, 1)): Keyring {
  const master = localMasterKey(masterKey);
  return createKeyring({
    master,
    load: (organizationId) => listOrganizationKeys(db, organizationId),
    create: (organizationId, key) => insertFirstOrganizationKey(db, organizationId, master.id, key),
  });
}

/** The parts that commands of webhooks take. No host may be private. */
export const webhookParts = (db: OwnedDatabase) => ({
  ...watchedParts(db),
  keyring: keyringOf(db),
  config: { webhooks: { allowHosts: [] } },
});

/** Makes a delivery that failed, of the first event of the organization. @returns its id. */
export async function deliveryOf(
  db: OwnedDatabase,
  organization: OrganizationRef,
  webhookId: string,
): Promise<string> {
  const id = newId();
  await db.owner.query(
    `insert into webhook_deliveries (
       id, organization_id, webhook_id, event_num, event_id, event_type, resource_id,
       status, error_code, attempts, http_status, completed_at
     )
     select $1, $2, $3, num, event.id, type, resource_id, 'failed', 'status_500', 12, 500, now()
     from events event
     where event.organization_id = $2
     order by num
     limit 1`,
    [id, organization.id, webhookId],
  );
  return id;
}

interface Stored {
  readonly status: string;
  readonly status_reason: string | null;
  readonly secret: { readonly keyId: string; readonly sealed: Buffer };
  readonly previous: Stored["secret"] | null;
}

/** The row of a webhook, with its sealed secrets; `secret` is null only if it was deleted. */
export async function storedWebhook(db: OwnedDatabase, id: string): Promise<Stored> {
  const { rows } = await db.owner.query("select * from webhooks where id = $1", [id]);
  const row = rows[0];
  const sealed = (keyId: string | null, bytes: Buffer | null) => keyId && bytes && { keyId, sealed: bytes };
  return {
    status: row.status,
    status_reason: row.status_reason,
    secret: sealed(row.secret_key_id, row.sealed_secret) as Stored["secret"],
    previous: sealed(row.previous_secret_key_id, row.sealed_previous_secret) as Stored["previous"],
  };
}

/** The events of one caller's request, in the order in which they were written. */
export async function eventsOf(
  db: OwnedDatabase,
  { requestId }: Caller,
): Promise<{ type: string; space_id: string | null }[]> {
  const { rows } = await db.owner.query(
    `select type, space_id
     from events
     where request_id = $1
     order by num`,
    [requestId],
  );
  return rows;
}
