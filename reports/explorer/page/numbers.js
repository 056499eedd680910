// How numbers are written: as the Markdown report writes them, to the last digit.

const NONE = "–";

/** Write a number with so many decimals, ties to even as Python rounds them, thousands apart. */
function fixed(value, digits) {
  const size = Math.abs(value);
  const scale = 10 ** digits;
  let text = size.toFixed(digits);
  if ((size * 2 ** (digits + 1)) % 2 === 1) {
    const below = Math.floor(size * scale);
    text = ((below % 2 ? below + 1 : below) / scale).toFixed(digits);
  }
  const [whole, decimals] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return (value < 0 ? "-" : "") + grouped + (decimals ? `.${decimals}` : "");
}

const percent = (value) => (value === null || value === undefined ? NONE : fixed(100 * value, 1));

/** Write a difference of shares in percentage points, always with its sign; no difference is never negative. */
function signed(value) {
  const text = fixed(Math.abs(100 * value), 1);
  return (value < 0 && Number(text) !== 0 ? "-" : "+") + text;
}

const bounds = (low, high) => (low === null || high === null ? NONE : `[${signed(low)}, ${signed(high)}]`);

function interval(cell) {
  return cell.low === null ? percent(cell.mean) : `${percent(cell.mean)} [${percent(cell.low)}, ${percent(cell.high)}]`;
}

function milliseconds(value) {
  if (value === null || value === undefined) return NONE;
  return fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

function probability(p) {
  if (p === null || p === undefined) return NONE;
  return p < 0.001 ? "<.001" : fixed(p, 3).replace(/^0/, "");
}

/** Write a retrieval score: four significant digits, which is all that is stored. */
const score = (value) => (value === 0 ? "0" : String(Number(value.toPrecision(4))));

const count = (value) => fixed(value, 0);

/** Write a parameter of a sweep. */
function parameter(value) {
  if (value === null || value === undefined) return NONE;
  return typeof value === "number"
    ? String(Number(value.toPrecision(6)))
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}

const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
