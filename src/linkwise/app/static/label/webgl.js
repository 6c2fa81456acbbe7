// Points by WebGL2: positions once, labels and marks when they change; one draw call a frame, of
// every step-th point.
import { COUNT, rgb } from "./colours.js";

const WIDTH = { position: 2, label: 1, mark: 1 }; // numbers of a point
const VERTEX = `#version 300 es
in vec2 position;
in float label;
in float mark;
uniform vec4 camera;
uniform float size;
uniform float dim;
uniform vec3 palette[${COUNT}];
uniform vec3 plain;
uniform float stale;
out vec4 colour;
void main() {
  gl_Position = vec4(position * camera.xy + camera.zw, 0.0, 1.0);
  bool chosen = mark > 0.5;
  gl_PointSize = size * (chosen ? 1.35 : 1.0);
  vec3 own = label < 0.0 ? plain : palette[int(mod(label, ${COUNT}.0))];
  own = mix(own, plain, 0.55 * stale);
  colour = vec4(own, (dim > 0.5 && !chosen) ? 0.13 : 0.88);
}`;
const FRAGMENT = `#version 300 es
precision highp float;
in vec4 colour;
uniform float size;
out vec4 result;
void main() {
  float r = length(gl_PointCoord - 0.5) * 2.0;
  float edge = 2.0 / max(size, 2.0);
  float a = colour.a * (1.0 - smoothstep(1.0 - edge, 1.0, r));
  if (a < 0.01) discard;
  result = vec4(colour.rgb * a, a);
}`;

export class WebGLPoints {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!gl) throw new Error("no WebGL2");
    this.gl = gl;
    this.canvas = canvas;
    canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); this.lost = true; });
    canvas.addEventListener("webglcontextrestored", () => { this.lost = false; this.build(); this.redo(); });
    this.build();
  }

  build() {
    const gl = this.gl;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.at = {};
    for (const name of ["camera", "size", "dim", "palette", "plain", "stale"]) this.at[name] = gl.getUniformLocation(program, name);
    this.buffers = {};
    this.places = {};
    for (const name of Object.keys(WIDTH)) {
      this.places[name] = gl.getAttribLocation(program, name);
      this.buffers[name] = gl.createBuffer();
      gl.enableVertexAttribArray(this.places[name]);
    }
    this.step = 0;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniform3fv(this.at.palette, new Float32Array(Array.from({ length: COUNT }, (_, i) => rgb(i)).flat()));
  }

  set(name, values, usage) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, usage);
  }

  every(step) { // read every so-many-th point of the buffers, without another copy of them
    if (step === this.step) return;
    this.step = step;
    for (const [name, width] of Object.entries(WIDTH)) {
      this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffers[name]);
      this.gl.vertexAttribPointer(this.places[name], width, this.gl.FLOAT, false, 4 * width * step, 0);
    }
  }

  points(xy) { this.xy = xy; this.n = xy.length / 2; this.set("position", xy, this.gl.STATIC_DRAW); }
  labels(labels) { this.kept = Float32Array.from(labels); this.set("label", this.kept, this.gl.DYNAMIC_DRAW); }
  marks(marks) { this.chosen = Float32Array.from(marks); this.set("mark", this.chosen, this.gl.DYNAMIC_DRAW); }
  redo() { if (this.xy) this.points(this.xy); if (this.kept) this.labels(this.kept); if (this.chosen) this.marks(this.chosen); }

  draw({ scaleX, scaleY, shiftX, shiftY, size, dim, stale, plain, step }) {
    if (this.lost || !this.n) return;
    const gl = this.gl;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(this.at.camera, scaleX, scaleY, shiftX, shiftY);
    gl.uniform1f(this.at.size, size);
    gl.uniform1f(this.at.dim, dim ? 1 : 0);
    gl.uniform1f(this.at.stale, stale ? 1 : 0);
    gl.uniform3fv(this.at.plain, plain);
    this.every(step);
    gl.drawArrays(gl.POINTS, 0, Math.ceil(this.n / step));
  }
}
