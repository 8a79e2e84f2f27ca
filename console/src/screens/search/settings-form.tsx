import { Checkbox, Group, MultiSelect, NativeSelect, Stack, TextInput, Title } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
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
const DEFAULT_LIMIT = 10;
const TYPING_MS = 300;

export function SettingsForm({ title, settings, spaces, onChange }: Props): ReactNode {
  const texts = useMessages(messages);
  const { nav } = useMessages(shell);
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
        <NumberField
          label={texts.limit}
          value={settings.limit}
          onChange={(limit) => onChange({ ...settings, limit: limit ?? DEFAULT_LIMIT })}
          min={1}
          max={100}
          w={84}
        />
        <NumberField
          label={texts.perDocument}
          value={settings.perDocument === 0 ? "" : settings.perDocument}
          placeholder={texts.unlimited}
          onChange={(perDocument) => onChange({ ...settings, perDocument: perDocument ?? 0 })}
          min={1}
          max={100}
          w={110}
        />
        <NumberField
          label={texts.minScore}
          value={settings.minScore === 0 ? "" : settings.minScore}
          placeholder={texts.unlimited}
          onChange={(minScore) => onChange({ ...settings, minScore: minScore ?? 0 })}
          min={0}
          max={1}
          step={0.05}
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

interface NumberProps {
  readonly label: string;
  readonly value: number | "";
  readonly placeholder?: string;
  readonly onChange: (value: number | undefined) => void;
  readonly min: number;
  readonly max: number;
  readonly step?: number;
  readonly w: number;
}

/**
 * The browser's own field, which is drawn in a fraction of the time. What is typed stays as it is until the
 * field is left; what counts is within the range.
 */
function NumberField({ value, onChange, min, max, step, ...shown }: NumberProps): ReactNode {
  const isWhole = step === undefined;
  const [typed, setTyped] = useState<string>();
  const tell = useDebouncedCallback((text: string) => {
    const number = isWhole ? Math.round(Number(text)) : Number(text);
    onChange(text === "" || Number.isNaN(number) ? undefined : Math.min(max, Math.max(min, number)));
  }, TYPING_MS);
  return (
    <TextInput
      {...shown}
      type="number"
      inputMode="decimal"
      size="xs"
      min={min}
      max={max}
      step={step}
      value={typed ?? value}
      onChange={({ currentTarget: { value: text } }) => {
        setTyped(text);
        tell(text);
      }}
      onBlur={() => {
        tell.flush();
        setTyped(undefined);
      }}
    />
  );
}
