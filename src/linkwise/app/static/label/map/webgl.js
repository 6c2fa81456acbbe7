// Points drawn by WebGL2. Positions are sent once, labels and marks when they change. One draw call
// paints a frame: every step-th point.
import { COUNT, rgb } from "./colours.js";

const WIDTH = { position: 2, label: 1, mark: 1 }; // numbers for each point
const UNIFORMS = ["camera", "size", "dim", "palette", "plain", "stale"];
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

// Return a program of the two shaders; an error says what the graphics driver refused.
function programOf(gl) {
  const program = gl.createProgram();
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    const compiled = gl.getShaderParameter(shader, gl.COMPILE_STATUS);
    if (!compiled) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  const linked = gl.getProgramParameter(program, gl.LINK_STATUS);
  if (!linked) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

export class WebGLPoints {
  n = 0;
  lost = false; // the driver has taken the context away, and may give it back

  constructor(canvas) {
    this.gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!this.gl) throw new Error("no WebGL2");
    this.canvas = canvas;
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.build();
      this.restore();
    });
    this.build();
  }

  build() {
    const { gl } = this;
    const program = programOf(gl);
    gl.useProgram(program);
    this.uniforms = {};
    for (const name of UNIFORMS) this.uniforms[name] = gl.getUniformLocation(program, name);
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
    const palette = Array.from({ length: COUNT }, (_, label) => rgb(label)).flat();
    gl.uniform3fv(this.uniforms.palette, new Float32Array(palette));
  }

  restore() {
    if (!this.n) return;
    this.setPoints(this.xy);
    this.setLabels(this.labels);
    this.setMarks(this.marks);
  }

  store(name, values, usage) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, values, usage);
  }

  setPoints(xy) {
    this.xy = xy;
    this.n = xy.length / 2;
    this.store("position", xy, this.gl.STATIC_DRAW);
  }

  setLabels(labels) {
    this.labels = Float32Array.from(labels);
    this.store("label", this.labels, this.gl.DYNAMIC_DRAW);
  }

  setMarks(marks) {
    this.marks = Float32Array.from(marks);
    this.store("mark", this.marks, this.gl.DYNAMIC_DRAW);
  }

  // Read every step-th point of the buffers, without another copy of them.
  readEvery(step) {
    if (step === this.step) return;
    this.step = step;
    const { gl } = this;
    for (const [name, width] of Object.entries(WIDTH)) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
      gl.vertexAttribPointer(this.places[name], width, gl.FLOAT, false, 4 * width * step, 0);
    }
  }

  draw({ scaleX, scaleY, shiftX, shiftY, size, dim, stale, plain, step }) {
    if (this.lost || !this.n) return;
    const { gl, uniforms } = this;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(uniforms.camera, scaleX, scaleY, shiftX, shiftY);
    gl.uniform1f(uniforms.size, size);
    gl.uniform1f(uniforms.dim, dim ? 1 : 0);
    gl.uniform1f(uniforms.stale, stale ? 1 : 0);
    gl.uniform3fv(uniforms.plain, plain);
    this.readEvery(step);
    gl.drawArrays(gl.POINTS, 0, Math.ceil(this.n / step));
  }
}
