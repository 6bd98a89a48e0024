import { keyOf } from "./role-names.ts";

export type LabelKind = "place" | "time" | "action" | "logline" | "none";

const labels = new Map<string, LabelKind>();
enter("place", "place location setting set scene 地点 地點 场地 场景 場景");
enter("time", "time 时间 時間 时");
enter("action", "action visual visuals image 动作 動作 画面 畫面 镜头 鏡頭");
enter("logline", "logline synopsis premise story idea plot summary pitch 梗概 简介 故事 剧情");
enter(
  "none",
  "title author credit source contact copyright genre cast characters note notes episode language sound music sfx",
);
enter("none", "duration length transition 剧名 片名 标题 標題 作者 编剧 人物 角色 出场人物 备注 音效 音乐");

/** Words before a colon that are not names. */
const noNames = new Set(
  "remember but and so then now moral ps first second third finally later suddenly warning attention question answer example result conclusion the a an it this that here there end 注意 但是 于是 然后 结果 比如 例如 现在 最后".split(
    " ",
  ),
);

const transitionPattern =
  /^(?:fade (?:in|out|to black|to white)|(?:smash |match |jump |hard )?cut to(?: black)?|cut|dissolve to|wipe to|intercut|back to scene|the end|end|剧终|全剧终|完|切至|淡入|淡出)[.:：!]?$/iu;

/** The meaning of a label before a colon; it may contain a scene number. */
export function findLabel(text: string): LabelKind | null {
  return labels.get(keyOf(text)) ?? null;
}

export function isNoName(text: string): boolean {
  return noNames.has(keyOf(text));
}

/** Transitions such as "CUT TO:", which are neither action nor speech. */
export function isTransition(text: string): boolean {
  if (text.length > 40) return false;
  return transitionPattern.test(text.replace(/^>\s?/, "")) || /^[\p{Lu}\s]{2,30}\sTO:$/u.test(text);
}

function enter(kind: LabelKind, words: string): void {
  for (const word of words.split(" ")) labels.set(word, kind);
}
