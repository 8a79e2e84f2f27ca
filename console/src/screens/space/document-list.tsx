import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Empty } from "../../parts/empty.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { ScreenLoading } from "../../parts/screen-loading.tsx";
import { useShortcuts } from "../../parts/shortcuts.tsx";
import { BulkBar } from "./bulk-bar.tsx";
import { DocumentRow } from "./document-row.tsx";
import { type DocumentList as List, type ListAddress, useDocuments } from "./documents.ts";
import "./document-list.css";
import { messages } from "./messages.ts";

interface Props {
  readonly spaceId: string;
  readonly address: ListAddress;
  readonly can: (action: string) => boolean;
  readonly onClear: () => void;
}

const ROW_PX = 44;
/** The service takes so many ids in one request. */
const MAX_SELECTED = 1_000;

/** The documents as a table of which only the rows in view exist, whatever the length. */
export function DocumentList({ spaceId, address, can, onClear }: Props): ReactNode {
  const holdfast = useHoldfast();
  const texts = useMessages(messages).table;
  const scroller = useRef<HTMLDivElement>(null);
  const [range, setRange] = useState({ first: 0, last: 0 });
  const list = useDocuments(holdfast, spaceId, address, range);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const rows = useVirtualizer({
    count: list.total ?? 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    onChange: ({ range: shown }) => {
      if (shown === null) return;
      const next = { first: shown.startIndex, last: shown.endIndex };
      setRange((now) => (now.first === next.first && now.last === next.last ? now : next));
    },
  });
  const toggle = (id: string, isOn: boolean): void => {
    const next = new Set(selected);
    if (isOn && next.size < MAX_SELECTED) next.add(id);
    else next.delete(id);
    setSelected(next);
  };
  const active = useActiveRow(list, { scrollTo: rows.scrollToIndex, toggle, selected });
  if (list.error !== null) return <ScreenError error={list.error} retry={list.refetch} />;
  if (list.total === undefined) return <ScreenLoading />;
  const isFiltered = (address.q ?? address.status ?? address.type) !== undefined;
  if (list.total === 0)
    return <NoDocuments isFiltered={isFiltered} mayWrite={can("documents:create")} onClear={onClear} />;
  const mayWrite = can("documents:update");
  return (
    <Stack gap={0} flex={1} miw={0} mih={0}>
      <ListHead
        list={list}
        selected={selected}
        mayWrite={mayWrite}
        onSelectAll={(isOn) =>
          setSelected(new Set(isOn ? list.loaded.slice(0, MAX_SELECTED).map(({ id }) => id) : []))
        }
      >
        {selected.size > 0 && (
          <BulkBar spaceId={spaceId} ids={[...selected]} can={can} onDone={() => setSelected(new Set())} />
        )}
      </ListHead>
      <div
        ref={scroller}
        className="document-rows"
        role="table"
        aria-rowcount={list.total}
        aria-label={texts.label}
      >
        <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map(({ index, start }) => (
            <DocumentRow
              key={index}
              index={index}
              top={start}
              document={list.at(index)}
              isActive={index === active}
              isSelected={selected.has(list.at(index)?.id ?? "")}
              selected={selected}
              mayWrite={mayWrite}
              onToggle={toggle}
            />
          ))}
        </div>
      </div>
    </Stack>
  );
}

interface HeadProps {
  readonly list: List;
  readonly selected: ReadonlySet<string>;
  readonly mayWrite: boolean;
  readonly onSelectAll: (isOn: boolean) => void;
  readonly children: ReactNode;
}

function ListHead({ list, selected, mayWrite, onSelectAll, children }: HeadProps): ReactNode {
  const texts = useMessages(messages).table;
  const formats = useFormats();
  const total = list.total ?? 0;
  return (
    <Group h={36} gap="sm" wrap="nowrap" px={8}>
      {mayWrite && (
        <Checkbox
          size="xs"
          aria-label={texts.selectAll}
          checked={selected.size > 0 && list.loaded.every(({ id }) => selected.has(id))}
          indeterminate={selected.size > 0 && !list.loaded.every(({ id }) => selected.has(id))}
          onChange={(event) => onSelectAll(event.currentTarget.checked)}
        />
      )}
      <Text size="sm" c="dimmed" flex={1} role="status">
        {total === 1 ? texts.one : texts.count(formats.number(total))}
      </Text>
      {children}
    </Group>
  );
}

interface NoneProps {
  readonly isFiltered: boolean;
  readonly mayWrite: boolean;
  readonly onClear: () => void;
}

function NoDocuments({ isFiltered, mayWrite, onClear }: NoneProps): ReactNode {
  const texts = useMessages(messages);
  const { empty } = texts;
  return (
    <Stack flex={1}>
      {isFiltered ? (
        <Empty title={empty.filtered}>
          <Button variant="default" onClick={onClear}>
            {texts.filters.clear}
          </Button>
        </Empty>
      ) : (
        <Empty title={empty.title} text={mayWrite ? empty.text : empty.viewer} />
      )}
    </Stack>
  );
}

interface RowKeys {
  readonly scrollTo: (index: number) => void;
  readonly toggle: (id: string, isOn: boolean) => void;
  readonly selected: ReadonlySet<string>;
}

/** The row that keys act on: j and k go down and up, x selects it, Enter opens it. */
function useActiveRow(list: List, { scrollTo, toggle, selected }: RowKeys): number {
  const texts = useMessages(messages).keys;
  const navigate = useNavigate();
  const [active, setActive] = useState(-1);
  const step = (by: number): void => {
    const next = Math.min(Math.max(0, active + by), (list.total ?? 1) - 1);
    setActive(next);
    scrollTo(next);
  };
  const document = list.at(active);
  useShortcuts([
    { keys: "j", label: texts.next, run: () => step(1) },
    { keys: "k", label: texts.previous, run: () => step(-1) },
    {
      keys: "x",
      label: texts.select,
      run: () => document !== undefined && toggle(document.id, !selected.has(document.id)),
    },
    {
      keys: "o",
      label: texts.open,
      run: () =>
        document !== undefined &&
        void navigate({ to: "/documents/$documentId", params: { documentId: document.id } }),
    },
  ]);
  return active;
}
