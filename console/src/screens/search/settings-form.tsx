import { Checkbox, Group, MultiSelect, NativeSelect, NumberInput, Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { messages as shell } from "../../app/messages.ts";
import { useMessages } from "../../messages/messages.ts";
import { messages } from "./messages.ts";
import type { Settings } from "./settings.ts";

interface Props {
  readonly title: string | undefined;
  readonly settings: Settings;
  readonly spaces: ReadonlyArray<{
    readonly id: string;
    readonly name: string;
    readonly is_private: boolean;
  }>;
  readonly onChange: (settings: Settings) => void;
}

const TYPES = "PDF DOCX PPTX XLSX ODT HTML MARKDOWN TEXT CSV EML JSON XML CODE PNG JPEG".split(" ");
const MAX_SPACES = 20;

export function SettingsForm({ title, settings, spaces, onChange }: Props): ReactNode {
  const texts = useMessages(messages);
  const { nav } = useMessages(shell);
  const number = (value: number | string, otherwise: number): number =>
    typeof value === "number" ? value : otherwise;
  return (
    <Stack gap="xs">
      {title !== undefined && (
        <Title order={2} size="h5">
          {title}
        </Title>
      )}
      <Group gap="sm" align="flex-end">
        <MultiSelect
          label={texts.spaces}
          placeholder={settings.spaces.length === 0 ? texts.allSpaces : ""}
          data={spaces.map(({ id, name, is_private: isPrivate }) => ({
            value: id,
            label: isPrivate ? nav.privateSpace : name,
          }))}
          value={[...settings.spaces]}
          onChange={(chosen) => onChange({ ...settings, spaces: chosen })}
          maxValues={MAX_SPACES}
          size="xs"
          flex="1 1 160px"
          searchable
        />
        <NumberInput
          label={texts.limit}
          value={settings.limit}
          onChange={(value) => onChange({ ...settings, limit: number(value, 10) })}
          min={1}
          max={100}
          size="xs"
          w={84}
        />
        <NumberInput
          label={texts.perDocument}
          value={settings.perDocument === 0 ? "" : settings.perDocument}
          placeholder={texts.unlimited}
          onChange={(value) => onChange({ ...settings, perDocument: number(value, 0) })}
          min={1}
          max={100}
          size="xs"
          w={110}
        />
        <NumberInput
          label={texts.minScore}
          value={settings.minScore === 0 ? "" : settings.minScore}
          placeholder={texts.unlimited}
          onChange={(value) => onChange({ ...settings, minScore: number(value, 0) })}
          min={0}
          max={1}
          step={0.05}
          decimalScale={2}
          size="xs"
          w={110}
        />
        <NativeSelect
          label={texts.type}
          data={[{ value: "", label: texts.anyType }, ...TYPES]}
          value={settings.type}
          onChange={(event) => onChange({ ...settings, type: event.currentTarget.value })}
          size="xs"
        />
        <Checkbox
          label={texts.rerank}
          checked={settings.rerank}
          onChange={(event) => onChange({ ...settings, rerank: event.currentTarget.checked })}
          size="xs"
          pb={6}
        />
      </Group>
    </Stack>
  );
}
