import { mixColours } from "./colour.ts";
import type { SceneParts } from "./scene.ts";

/** What a room is for. */
export type RoomKind = "kitchen" | "bedroom" | "office" | "parlour" | "carriage";

/** The colours of a room: in daylight, or in lamp light if it is dark outside. */
export type RoomColours = {
  wall: string;
  wood: string;
  cloth: string;
  paper: string;
  shade: string;
  lamp: string;
};

export function chooseRoomColours({ palette, random }: SceneParts): RoomColours {
  const wallpaper = random.pick(["#b9a184", "#8fa39a", "#a98f8a", "#9aa0ae", "#b5a77c"]);
  const wood = random.pick(["#7a4f33", "#8b6242", "#5d4033"]);
  const cloth = random.pick(["#7d4a44", "#46627a", "#5f6f4e", "#8a6a3f"]);
  const lamp = "#ffcf8a";
  // At night a room is as dark as its corners; by day the sky lights it.
  const [dark, share] = palette.isDark ? [mixColours("#1d1a22", palette.near, 0.35), 0.6] : [palette.far, 0.18];
  return {
    wall: mixColours(wallpaper, dark, share),
    wood: mixColours(wood, dark, palette.isDark ? 0.45 : 0.08),
    cloth: mixColours(cloth, dark, palette.isDark ? 0.4 : 0.1),
    paper: mixColours("#efe5d2", dark, palette.isDark ? 0.4 : 0.06),
    shade: mixColours("#1c1712", palette.near, 0.4),
    lamp,
  };
}
