/** Contract of API keys; the key text itself is shown once, in the answer that makes it. */
import { z } from "zod";
import { CAPABILITIES } from "../domain/principal.ts";
import { envelope, Name, pageQuery, Timestamp, TimestampInput, Uuid } from "./common.ts";

const MAX_SPACES = 1_000;
const MAX_CAPABILITIES = 16;

const ApiKey = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: "automation" }),
    prefix: z.string().meta({ description: "By which a key is recognized", example: "sk-a1B2c3D4" }),
    user_id: Uuid,
    spaces: z.array(Uuid).nullable().meta({ description: "Null: all that its owner reaches" }),
    capabilities: z.array(z.enum(CAPABILITIES)),
    created_at: Timestamp,
    expires_at: Timestamp.nullable(),
    last_used_at: Timestamp.nullable(),
    revoked_at: Timestamp.nullable(),
  })
  .meta({ id: "ApiKey" });

export const ApiKeyPage = envelope(ApiKey, "ApiKeyPage");
export const ApiKeyCreated = ApiKey.extend({ key: z.string().meta({ description: "Shown only here", example: "sk-…" }) }).meta({ id: "ApiKeyCreated" });

const wanted = {
  name: Name,
  spaces: z.array(Uuid).max(MAX_SPACES).nullish().meta({ description: "Absent or null: all that its owner reaches" }),
  expires_at: TimestampInput.nullish(),
  capabilities: z
    .array(z.enum(CAPABILITIES))
    .min(1)
    .max(MAX_CAPABILITIES)
    .nullish()
    .meta({ description: "Absent or null: all", example: ["read", "search"] }),
};

export const ApiKeyCreate = z.object(wanted).meta({ id: "ApiKeyCreate" });
export const OrganizationKeyCreate = z.object({ ...wanted, user_id: Uuid }).meta({ id: "OrganizationKeyCreate" });

export const ApiKeyParams = z.object({ api_key_id: Uuid });
export const OrganizationKeyParams = z.object({ organization_id: Uuid, api_key_id: Uuid });
export const ApiKeyQuery = pageQuery();
export const OrganizationKeyQuery = pageQuery().extend({ user_id: Uuid.optional() });
