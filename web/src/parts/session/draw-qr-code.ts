import createQrCode from "qrcode-generator";

const quietModules = 4;

/** A QR code as one SVG path, drawn locally because it contains a secret. */
export function drawQrCode(text: string): { path: string; size: number } {
  const code = createQrCode(0, "M");
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const squares: string[] = [];
  for (let row = 0; row < count; row += 1) {
    for (let column = 0; column < count; column += 1) {
      if (code.isDark(row, column)) squares.push(`M${column + quietModules} ${row + quietModules}h1v1h-1z`);
    }
  }
  return { path: squares.join(""), size: count + 2 * quietModules };
}
