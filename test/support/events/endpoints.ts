/** Makes endpoints directly in the database. */
import { randomBytes } from "node:crypto";
import { newId } from "../../../src/domain/ids.ts";
import type { Keyring } from "../../../src/storage/keys/keyring.ts";
import { sealWebhookSecret } from "../../../src/storage/keys/webhook-secret.ts";
import type { OwnedDatabase } from "../servers/database.ts";

export interface EndpointFields {
  readonly organizationId: string;
  /** The id of its maker. */
  readonly createdBy: string;
  readonly url: string;
  /** Null: of the organization. */
  readonly spaceId?: string | null;
  readonly types?: readonly string[];
  readonly secret?: string;
}

export const newSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

/** An endpoint that is told of what happens from now on. @returns its id. */
export async function makeEndpoint(
  db: Pick<OwnedDatabase, "owner">,
  keyring: Keyring,
  { organizationId, createdBy, url, spaceId = null, types = [], secret = newSecret() }: EndpointFields,
): Promise<string> {
  const id = newId();
  const { keyId, sealed } = await sealWebhookSecret(keyring, { organizationId, webhookId: id }, secret);
  await db.owner.query(
    `insert into webhooks (
       id, organization_id, space_id, created_by, url, types, secret_key_id, sealed_secret, position
     )
     values ($1, $2, $3, $4, $5, $6, $7, $8, coalesce(
       (select last_position from event_positions where organization_id = $2), 0))`,
    [id, organizationId, spaceId, createdBy, url, types, keyId, sealed],
  );
  return id;
}
