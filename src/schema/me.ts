/** The contract of the caller's own profile. */
import { z } from "zod";
import { Uuid } from "./fields.ts";

export const Me = z
  .object({
    id: Uuid,
    email: z.string().meta({ example: "ada@acme.example" }),
    name: z.string().meta({ example: "Ada Example" }),
    avatar_url: z.string().nullable().meta({ example: null }),
    organization: z.object({
      id: Uuid,
      name: z.string().meta({ example: "Acme" }),
      role: z.enum(["admin", "member"]),
    }),
    private_space_id: Uuid.nullable(),
    auth_method: z.enum(["api_key", "jwt"]).meta({ example: "jwt" }),
  })
  .meta({ id: "Me" });
