/** The contract of what a person or a key can see, and why. */
import { z } from "zod";
import { field } from "./field.ts";
import { envelope, pageQuery } from "./fields.ts";
import { SpaceId } from "./ids.ts";

const REASONS = [
  "space_member",
  "private_space",
  "organization_admin",
  "key_spaces",
  "key_capabilities",
] as const;

const SpaceAccess = z
  .object({
    space_id: SpaceId,
    space_name: field.nullableText("The display name; null: the private space of somebody else", "Research"),
    is_private: field.flag("True for the user's private space", false),
    role: z.enum(["owner", "editor", "viewer"]).nullable().meta({
      description: "The user's role in the space; null: none, and an admin manages it all the same",
      example: "editor",
    }),
    can: z.array(z.string()).meta({
      description:
        "What the service allows, as its policy names it: `spaces:read`, `spaces:manage`, `documents:read`, " +
        "`documents:search`, `documents:create`, `documents:update`, `documents:delete`, " +
        "`documents:reprocess`, `files:…`, `folders:…`, `agents:…`, `webhooks:manage`. Empty: nothing",
      example: ["spaces:read", "documents:read", "documents:search"],
    }),
    because: z.array(z.enum(REASONS)).meta({
      description:
        "Why so much: `space_member`: the role; `private_space`: it is the user's own; " +
        "`organization_admin`: admins manage shared spaces without reading them. Why not more: `key_spaces`: " +
        "the key is narrowed to other spaces, or somebody else made it, which keeps it out of the private " +
        "one; `key_capabilities`: the key cannot do all that the user can",
      example: ["space_member"],
    }),
  })
  .meta({ id: "SpaceAccess" });

export const SpaceAccessPage = envelope(SpaceAccess, "SpaceAccessPage");

export const AccessQuery = pageQuery().extend({
  space_id: SpaceId.optional().describe("Only this space"),
});
