/** Contract of resource folders. */
import { z } from "zod";
import { envelope, Name, pageQuery, PARTS_PER_PAGE, Person, Uuid } from "../fields.ts";
import { Document } from "./document.ts";

const FolderName = Name.refine((name) => !name.includes("/"), "must not hold a slash").meta({
  description: "1–255 characters without `/`",
  example: "Reports",
});

export const Folder = z
  .object({
    id: Uuid,
    name: z.string().meta({ example: "Reports" }),
    parent_folder_id: Uuid.nullable().meta({ description: "Null at the root" }),
    org_id: Uuid,
    home_space_id: Uuid,
    from_system: z.boolean(),
    created_by: Person.nullable(),
  })
  .meta({ id: "Folder" });

export const FolderPage = envelope(Folder, "FolderPage");

export const FolderCreate = z
  .object({
    name: FolderName,
    space_id: Uuid,
    parent_folder_id: Uuid.nullish().meta({ description: "Absent or null for the root" }),
  })
  .meta({ id: "FolderCreate" });

export const FolderPatch = z
  .object({
    name: FolderName.optional(),
    parent_folder_id: Uuid.nullable().optional().meta({ description: "Null moves it to the root" }),
  })
  .meta({ id: "FolderPatch" });

export const FolderListQuery = pageQuery(PARTS_PER_PAGE).extend({
  parent_folder_id: Uuid.optional().meta({ description: "Only its direct children" }),
});
export const FolderContentsQuery = pageQuery(PARTS_PER_PAGE);

export const FolderContents = z
  .object({
    folder_id: Uuid,
    folder: Folder,
    sub_folders: z.array(Folder).meta({ description: "Direct sub-folders" }),
    documents: z.array(Document).meta({ description: "Documents directly in the folder, one page of them" }),
    sub_folder_count: z.int().meta({ example: 2 }),
    document_count: z.int().meta({ description: "Over all pages", example: 12 }),
    page: z.int().meta({ example: 1 }),
    page_size: z.int().meta({ example: 100 }),
  })
  .meta({ id: "FolderContents" });
