/** The contract of spaces and their members. */
import { z } from "zod";
import { field } from "./field.ts";
import { envelope, Name, pageQuery, PARTS_PER_PAGE, Timestamp } from "./fields.ts";
import { OrganizationId, SpaceId, UserId } from "./ids.ts";
import { type FilterFields, filtersOf, orderByOf } from "./requests/filters.ts";
import { writtenBack } from "./requests/written-back.ts";

const SPACE_ROLES = ["owner", "editor", "viewer"] as const;

const SpaceRole = z.enum(SPACE_ROLES).meta({
  description: "`viewer` reads and searches, `editor` also writes, `owner` also manages the space",
  example: "viewer",
});

export const Space = z
  .object({
    id: SpaceId,
    name: field.text("The display name; two spaces may have the same", "Research"),
    is_private: field.flag("True marks the caller's private space, which nobody else reaches", false),
    owner_id: UserId.describe("The owner of record; it may have more owners"),
    organization_id: OrganizationId,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Space" });

const SpaceEmbedding = z
  .object({
    model: field.text(
      "The embedding model of the instance, with which new documents are embedded",
      "all-minilm-l6-v2-int8",
    ),
    language_fit: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .meta({
        description:
          "How well the model tells this space's texts apart, as measured on the space's own documents: 0 is " +
          "no better than chance, 1 as good as in a language that it knows. Below .5 the model tells this " +
          "space's texts apart hardly better than chance: searches rank by words, and another EMBEDDING_MODEL " +
          "would help. Null while the space has too few documents with several chunks to measure it, and " +
          "until that was done, which takes a few minutes",
        example: 0.98,
      }),
    is_language_known: z.boolean().nullable().meta({
      description: "Whether `language_fit` is at least .5; null where that is null",
      example: true,
    }),
  })
  .meta({
    id: "SpaceEmbedding",
    description: "The model that searches compare this space's texts with, and what it knows of them",
  });

export const SpaceDetails = Space.extend({ embedding: SpaceEmbedding }).meta({ id: "SpaceDetails" });

export const SpacePage = envelope(Space, "SpacePage");

const SPACE_FIELDS: FilterFields = {
  id: "uuid",
  name: "text",
  is_private: "boolean",
  owner_id: "uuid",
  organization_id: "uuid",
  created_at: "timestamp",
  updated_at: "timestamp",
};

export const SpaceSearchQuery = pageQuery();
/** An absent body and `{}` list all spaces that the caller reaches. */
export const SpaceSearch = z
  .strictObject({
    filters: filtersOf(SPACE_FIELDS, { name__icontains: "research" }),
    order_by: orderByOf(SPACE_FIELDS, ["name"]),
  })
  .meta({ id: "SpaceSearch" })
  .nullish()
  .transform((body) => body ?? { filters: [], order_by: [] });

export const SpaceCreate = z.object({ name: Name }).meta({ id: "SpaceCreate" });
export const SpacePatch = z.object({ name: Name.optional() }).meta({ id: "SpacePatch" });

export const SpaceMember = z
  .object({
    user_id: UserId,
    email: field.text("The e-mail address", "ada@acme.example"),
    name: field.text("The display name", "Ada Example"),
    role: SpaceRole,
  })
  .meta({ id: "SpaceMember" });
export const SpaceMemberPage = envelope(SpaceMember, "SpaceMemberPage");
export const SpaceMembersQuery = pageQuery(PARTS_PER_PAGE);
export const SpaceMemberPut = writtenBack(
  SpaceMember,
  z.strictObject({ role: SpaceRole }).meta({ id: "SpaceMemberPut" }),
);
