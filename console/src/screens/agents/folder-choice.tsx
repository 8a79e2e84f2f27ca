import { MultiSelect, Radio, Stack } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../app/context.ts";
import { spacesQuery } from "../../app/spaces.ts";
import { useMessages } from "../../messages/messages.ts";
import { foldersQuery } from "../space/folders/tree-data.ts";
import type { FormProps } from "./agent-form.tsx";
import { messages } from "./messages.ts";

/** The folders of so many spaces are asked for; each is a request of its own. */
const MOST_SPACES = 10;
const MOST_FOLDERS = 1_000;
const SHOWN = 100;

/** All folders, or some of those of the spaces that the agent may search. */
export function FolderChoice({ fields, onChange, problems, spaceId }: FormProps): ReactNode {
  const texts = useMessages(messages);
  const { data_access_mode: mode, allowed_folder_ids: chosen } = fields;
  const folders = useFolders(mode === "caller", spaceId, chosen !== null);
  // A folder that is out of the person's reach is kept, under its id.
  const unknown = (chosen ?? []).filter((id) => !folders.some(({ value }) => value === id));
  const problem = Object.entries(problems).find(([name]) => name.startsWith("allowed_folder_ids"))?.[1];
  return (
    <Stack gap="xs">
      <Radio.Group
        label={texts.fields.allowed_folder_ids}
        value={chosen === null ? "all" : "some"}
        error={problem}
        onChange={(which) => onChange({ allowed_folder_ids: which === "all" ? null : [] })}
      >
        <Stack gap="xs" mt={4}>
          <Radio value="all" label={texts.allFolders} />
          <Radio value="some" label={texts.someFolders} />
        </Stack>
      </Radio.Group>
      {chosen !== null && (
        <MultiSelect
          label={texts.chooseFolders}
          description={chosen.length === 0 ? texts.noFolder : texts.hints.allowed_folder_ids}
          searchable
          limit={SHOWN}
          maxValues={MOST_FOLDERS}
          data={[...folders, ...unknown.map((id) => ({ value: id, label: id }))]}
          value={chosen}
          onChange={(ids) => onChange({ allowed_folder_ids: ids })}
        />
      )}
    </Stack>
  );
}

interface Option {
  readonly value: string;
  readonly label: string;
}

function useFolders(isEverywhere: boolean, spaceId: string, isNeeded: boolean): readonly Option[] {
  const holdfast = useHoldfast();
  const { data: spaces = [] } = useQuery({ ...spacesQuery(holdfast), enabled: isNeeded && isEverywhere });
  const ids = isEverywhere ? [...new Set([spaceId, ...spaces.map(({ id }) => id)])] : [spaceId];
  const lists = useQueries({
    queries: ids
      .slice(0, MOST_SPACES)
      .map((id) => ({ ...foldersQuery(holdfast, id), enabled: isNeeded && id !== "" })),
  });
  return lists.flatMap(({ data: folders = [] }) => {
    const byId = new Map(folders.map((folder) => [folder.id, folder]));
    const pathOf = (id: string): string => {
      const folder = byId.get(id);
      if (folder === undefined) return "";
      const { parent_folder_id: parentId, name } = folder;
      return parentId === null || parentId === undefined ? name : `${pathOf(parentId)}/${name}`;
    };
    return folders.map(({ id }) => ({ value: id, label: pathOf(id) }));
  });
}
