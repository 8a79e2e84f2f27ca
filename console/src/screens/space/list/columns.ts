/** The columns of the list: the fields that the service orders by, and what there is room for. */
import {
  columnVisibilityFeature,
  createColumnHelper,
  rowSortingFeature,
  tableFeatures,
} from "@tanstack/react-table";
import { type Document, nameOf } from "../documents.ts";
import { NAME, STATE } from "./question.ts";

export const features = tableFeatures({ rowSortingFeature, columnVisibilityFeature });

const helper = createColumnHelper<typeof features, Document>();

export const columns = helper.columns([
  helper.accessor(nameOf, { id: NAME }),
  helper.display({ id: STATE }),
  helper.accessor("file_type", { id: "file_type" }),
  helper.accessor("file_size", { id: "file_size" }),
  helper.accessor("created_at", { id: "created_at" }),
]);

/** The word above a column. */
export const TITLES: Readonly<Record<string, "name" | "status" | "type" | "size" | "created">> = {
  [NAME]: "name",
  [STATE]: "status",
  file_type: "type",
  file_size: "size",
  created_at: "created",
};

/** The width of each column, as a track of a grid. */
const TRACKS: Readonly<Record<string, string>> = {
  [NAME]: "minmax(140px, 1fr)",
  [STATE]: "minmax(200px, 1fr)",
  file_type: "90px",
  file_size: "80px",
  created_at: "120px",
};

/** With the box at the start and the menu at the end. */
export const tracksOf = (ids: readonly string[], canSelect: boolean): string =>
  [...(canSelect ? ["20px"] : []), ...ids.map((id) => TRACKS[id]), "32px"].join(" ");

const NARROW_PX = 620;
const MIDDLE_PX = 860;

/** What there is room for in a list of this width; 0: it is not known yet. */
export function visibilityOf(width: number): Record<string, boolean> {
  const isNarrow = width > 0 && width < NARROW_PX;
  const isMiddle = width > 0 && width < MIDDLE_PX;
  return { [STATE]: !isNarrow, file_type: !isMiddle, file_size: !isMiddle, created_at: !isNarrow };
}

/** A narrow list shows the state below the name. */
export const rowHeightOf = (width: number): number => (width > 0 && width < NARROW_PX ? 92 : 56);
