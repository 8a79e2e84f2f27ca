import { Menu } from "@mantine/core";
import type { ReactNode } from "react";

export interface MenuEntry {
  readonly label: string;
  readonly run: () => void;
  readonly isDangerous?: boolean;
}

interface Props {
  readonly at: DOMRect;
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly onClose: () => void;
}

/** One menu for all rows of a list, at the row that it was opened for. */
export function MenuAt({ at, label, entries, onClose }: Props): ReactNode {
  return (
    <Menu
      opened
      onChange={(isOpen) => !isOpen && onClose()}
      position="bottom-end"
      returnFocus
      withinPortal={false}
    >
      <Menu.Target>
        <span
          aria-hidden
          style={{
            position: "fixed",
            left: at.left,
            top: at.top,
            width: at.width,
            height: at.height,
            pointerEvents: "none",
          }}
        />
      </Menu.Target>
      <Menu.Dropdown aria-label={label}>
        {entries.map(({ label: text, run, isDangerous = false }) => (
          <Menu.Item
            key={text}
            onClick={run}
            {...(isDangerous ? { color: "var(--mantine-color-error)" } : {})}
          >
            {text}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
