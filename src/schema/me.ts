/** The contract of the caller's own profile. */
import { z } from "zod";
import { field } from "./field.ts";
import { AvatarUrl } from "./fields.ts";
import { OrganizationId, SpaceId, UserId } from "./ids.ts";

export const Me = z
  .object({
    id: UserId,
    email: field.text("The e-mail address", "ada@acme.example"),
    name: field.text("The display name", "Ada Example"),
    avatar_url: AvatarUrl,
    organization: z
      .object({
        id: OrganizationId,
        name: field.text("The organization's name", "Acme"),
        role: z.enum(["admin", "member"]).meta({
          description: "`admin` manages the organization: its members, keys, audit log and usage",
          example: "admin",
        }),
      })
      .describe("The caller's organization"),
    private_space_id: SpaceId.nullable().describe("The caller's private space; null if there is none"),
    auth_method: z.enum(["api_key", "jwt"]).meta({
      description: "How this request was authenticated",
      example: "jwt",
    }),
    roles: z.array(z.string()).meta({
      description: "Roles of the instance that the token gives: `operators`, or none",
      example: [],
    }),
  })
  .meta({ id: "Me" });
