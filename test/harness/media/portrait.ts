import sharp from "sharp";

/** A drawn portrait, so that tests need no real person's face. */
export async function drawPortrait(width: number, height: number): Promise<Buffer> {
  const side = Math.min(width, height);
  const scale = side / 400;
  const place = `translate(${width / 2 - 200 * scale} ${height / 2 - 215 * scale}) scale(${scale})`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
<defs><radialGradient id="wall" cx="0.4" cy="0.35" r="0.9"><stop offset="0" stop-color="#8fb5b0"/><stop offset="1" stop-color="#33535a"/></radialGradient>
<linearGradient id="skin" x1="0" x2="1"><stop offset="0" stop-color="#e9b48f"/><stop offset="1" stop-color="#c98a68"/></linearGradient></defs>
<rect width="100%" height="100%" fill="url(#wall)"/><g transform="${place}">
<path d="M40 520C40 390 110 345 200 345C290 345 360 390 360 520Z" fill="#3d4f7c"/><path d="M160 300L240 300L246 360C230 385 170 385 154 360Z" fill="#c08260"/>
<path d="M92 210C80 90 130 40 205 42C285 44 322 100 308 214C304 260 290 290 284 300L116 300C108 280 96 250 92 210Z" fill="#3a2620"/>
<ellipse cx="200" cy="210" rx="84" ry="106" fill="url(#skin)"/><path d="M114 190C120 110 170 96 214 104C262 112 284 140 286 190C262 150 226 140 190 138C150 137 128 158 114 190Z" fill="#4a3128"/>
<g fill="#2a1c18"><ellipse cx="168" cy="204" rx="9" ry="7"/><ellipse cx="232" cy="204" rx="9" ry="7"/></g>
<g stroke="#3a2620" stroke-width="6" fill="none" stroke-linecap="round"><path d="M150 184Q168 174 186 183"/><path d="M214 183Q232 174 250 184"/></g>
<path d="M200 208Q192 240 196 246Q202 250 208 246" stroke="#a8694c" stroke-width="4" fill="none"/>
<path d="M170 272Q200 262 230 272Q200 290 170 272Z" fill="#a4493f"/><path d="M170 272Q200 275 230 272" stroke="#6d2a26" stroke-width="2.5" fill="none"/></g></svg>`;
  return sharp(Buffer.from(svg)).png().toBuffer();
}
