/** Contract of resource folders. */
import { z } from "zod";
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
    name: z.string().meta({ description: "Its name", example: "Reports" }),
    parent_folder_id: FolderId.nullable().meta({
      description: "The folder that it is in; null at the root of the space",
      example: null,
    }),
    org_id: OrganizationId,
    home_space_id: SpaceId,
    from_system: z.boolean().meta({ description: "True for a folder of the service itself", example: false }),
    created_by: Person.nullable().meta({ description: "Who created it; null: no longer known" }),
  })
  .meta({ id: "Folder" });

export const FolderPage = envelope(Folder, "FolderPage");

export const FolderCreate = z
  .object({
    name: FolderName,
    space_id: SpaceId.meta({ description: "The space that it will be in" }),
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
    space_id: SpaceId.meta({ description: "The space that they are in" }),
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
            path: z.string().meta({ description: "As it was sent", example: "Reports/2026" }),
            id: FolderId,
            created: z.boolean().meta({ description: "Whether this request made it", example: true }),
          })
          .meta({ id: "EnsuredFolder" }),
      )
      .meta({ description: "In the order given, a repeated path once" }),
  })
  .meta({ id: "EnsuredFolders" });

export const FolderListQuery = pageQuery(PARTS_PER_PAGE).extend({
  parent_folder_id: FolderId.optional().meta({ description: "Only the direct children of this folder" }),
});
export const FolderContentsQuery = pageQuery(PARTS_PER_PAGE);

export const FolderContents = z
  .object({
    folder_id: FolderId,
    folder: Folder.meta({ description: "The folder itself" }),
    sub_folders: z.array(Folder).meta({ description: "Direct sub-folders" }),
    documents: z.array(Document).meta({ description: "Documents directly in the folder, one page of them" }),
    sub_folder_count: z
      .int()
      .meta({ description: "Direct sub-folders, all of which are listed", example: 1 }),
    document_count: z
      .int()
      .meta({ description: "Documents directly in the folder, over all pages", example: 1 }),
    page: z.int().meta({ description: "Page of the documents, from 1", example: 1 }),
    page_size: z.int().meta({ description: "Documents per page", example: 100 }),
  })
  .meta({ id: "FolderContents" });
