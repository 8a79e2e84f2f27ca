/** Contract of resource folders. */
import { z } from "zod";
import { field } from "../field.ts";
import { envelope, Name, pageQuery, PARTS_PER_PAGE, Person } from "../fields.ts";
import { FolderId, OrganizationId, SpaceId } from "../ids.ts";
import { NOT_BLANK_WITHOUT_SLASH } from "../requests/patterns.ts";
import { Document } from "./document.ts";

const FolderName = Name.refine((name) => !name.includes("/"), "must not hold a slash").meta({
  description: "1–255 characters without `/`",
  example: "Reports",
  pattern: NOT_BLANK_WITHOUT_SLASH,
});

export const Folder = z
  .object({
    id: FolderId,
    name: field.text("Its name", "Reports"),
    parent_folder_id: FolderId.nullable().meta({
      description: "The folder that it is in; null at the root of the space",
      example: null,
    }),
    org_id: OrganizationId,
    home_space_id: SpaceId,
    from_system: field.flag("True for a folder of the service itself", false),
    created_by: Person.nullable().describe("Who created it; null: no longer known"),
  })
  .meta({ id: "Folder" });

export const FolderPage = envelope(Folder, "FolderPage");

export const FolderCreate = z
  .object({
    name: FolderName,
    space_id: SpaceId.describe("The space that it will be in"),
    parent_folder_id: FolderId.nullish().meta({
      description: "The folder of that space that it will be in; absent or null for the root",
      example: null,
    }),
  })
  .meta({ id: "FolderCreate" });

export const FolderPatch = z
  .object({
    name: FolderName.optional(),
    parent_folder_id: FolderId.nullable().optional().meta({
      description: "The folder of the same space to move it to; null moves it to the root",
      example: null,
    }),
  })
  .meta({ id: "FolderPatch", example: { name: "Reports" } });

/** Folders of one path. */
const MAX_DEPTH = 32;
const MAX_PATHS = 1_000;
const MAX_PATH_CHARACTERS = 4_096;

const FolderPath = z
  .string()
  .min(1)
  .max(MAX_PATH_CHARACTERS)
  .superRefine((path, context) => {
    const names = path.split("/");
    const add = (message: string): void => context.addIssue({ code: "custom", message });
    if (names.length > MAX_DEPTH) add(`must name at most ${MAX_DEPTH} folders`);
    if (names.some((name) => !FolderName.safeParse(name).success))
      add("must be names of 1 to 255 characters, none of them blank, with one slash between each two");
  })
  .meta({
    description: `Names of folders with a slash between each two, at most ${MAX_DEPTH}`,
    example: "Reports/2026",
  });

export const FoldersEnsure = z
  .object({
    space_id: SpaceId.describe("The space that they are in"),
    parent_id: FolderId.nullish().meta({
      description: "The folder of that space that the paths begin in; absent or null for the root",
      example: null,
    }),
    paths: z
      .array(FolderPath)
      .min(1)
      .max(MAX_PATHS)
      .meta({ description: "The folders that are needed", example: ["Reports/2026"] }),
  })
  .meta({ id: "FoldersEnsure" });

export const EnsuredFolders = z
  .object({
    folders: z
      .array(
        z
          .object({
            path: field.text("As it was sent", "Reports/2026"),
            id: FolderId,
            created: field.flag("Whether this request made it", true),
          })
          .meta({ id: "EnsuredFolder" }),
      )
      .describe("In the order given, a repeated path once"),
  })
  .meta({ id: "EnsuredFolders" });

export const FolderListQuery = pageQuery(PARTS_PER_PAGE).extend({
  parent_folder_id: FolderId.optional().describe("Only the direct children of this folder"),
});
export const FolderContentsQuery = pageQuery(PARTS_PER_PAGE);

export const FolderContents = z
  .object({
    folder_id: FolderId,
    folder: Folder.describe("The folder itself"),
    sub_folders: z.array(Folder).describe("Direct sub-folders"),
    documents: z.array(Document).describe("Documents directly in the folder, one page of them"),
    sub_folder_count: field.integer("Direct sub-folders, all of which are listed", 1),
    document_count: field.integer("Documents directly in the folder, over all pages", 1),
    page: field.integer("Page of the documents, from 1", 1),
    page_size: field.integer("Documents per page", 100),
  })
  .meta({ id: "FolderContents" });
