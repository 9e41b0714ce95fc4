// A kernel inside of a C++ program: any number of rows, memory of the program's own, errors, a saved program, threads.
#include <cstdio>
#include <thread>
#include <vector>

#include <plait/plait.h>

using namespace plait;

// Memory that the program has anyway; plait reads and writes it where it lies.
struct Matrix {
  int64_t rows;
  std::vector<float> values;
  Matrix(int64_t rows, float value) : rows(rows), values(static_cast<size_t>(rows) * 64, value) {}
  Tensor tensor() { return Tensor::wrap(f32, {rows, 64}, values.data()); }
};

// What calls the kernel knows names and shapes, and no more of plait.
void normalize(Compiled& program, Matrix& x, Matrix& residual, const Tensor& weight, Matrix& y) {
  program.run({{"x", x.tensor()}, {"residual", residual.tensor()}, {"weight", weight}},
              {.outputs = {{"y", y.tensor()}}});
}

int main(int argc, char** argv) {
  Fusion f(Mesh(), "norm");
  TensorView* x = f.input("x", {"rows", 64}, f32);
  TensorView* residual = f.input("residual", {"rows", 64}, f32);
  TensorView* weight = f.parameter("weight", {64}, f32);
  f.output("y", rms_norm(add(x, residual), weight));

  Compiled program = compile(f);  // on the first of cuda, cpu, reference that is here
  const Tensor weights = Tensor::from_doubles(f32, {64}, std::vector<double>(64, 10));
  for (int64_t rows : {2, 300}) {
    Matrix a(rows, 1), b(rows, 2), out(rows, 0);
    normalize(program, a, b, weights, out);
    std::printf("%d rows: %d kernel, y[0] = %.3f, compiled %d time\n", static_cast<int>(rows),
                static_cast<int>(program.report().kernels.size()), out.values[0], static_cast<int>(program.classes()));
  }

  try {
    Matrix a(2, 1), b(3, 2), out(2, 0);
    normalize(program, a, b, weights, out);
  } catch (const UserError& e) {
    std::printf("refused: %s\n  at: %s\n", e.message().c_str(), e.where().c_str());
  }

  if (argc > 1) {  // a file to write, and to read back as another process would
    program.save(argv[1]);
    program = load(argv[1]);
  }

  std::vector<std::thread> threads;
  std::vector<Matrix> results(4, Matrix(2, 0));
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      Matrix a(2, 1), b(2, 2);
      const Tensor own = Tensor::from_doubles(f32, {64}, std::vector<double>(64, i));
      normalize(program, a, b, own, results[static_cast<size_t>(i)]);
    });
  for (std::thread& each : threads) each.join();
  for (const Matrix& each : results) std::printf("%.3f ", each.values[0]);
  std::printf("from four threads\n");
}
